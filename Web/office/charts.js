// Charts: what a column says, under the pointer and by the arrow keys, in a line below; a press leads to the payments behind
// it. The table of each chart says the same without a script.

const HINT = "Point at a column, or use the arrow keys.";

const MOVES = {
  ArrowRight: (current) => current + 1,
  ArrowLeft: (current) => current - 1,
  Home: () => 0,
  End: () => Infinity,
};

const start = (plot) => {
  const columns = [...plot.querySelectorAll(".column")];
  const links = plot.closest("figure").querySelectorAll("tbody a");
  const line = plot.querySelector(".reading");
  // The browser's own hint would cover the columns beside.
  const texts = columns.map((column) => {
    const title = column.querySelector("title");
    title.remove();
    return title.textContent;
  });
  let current = -1;

  const show = (index) => {
    columns[current]?.classList.remove("current");
    current = Math.max(0, Math.min(index, columns.length - 1));
    columns[current].classList.add("current");
    line.textContent = texts[current];
  };
  const open = () => links[current]?.click();

  const over = (event) => columns.indexOf(event.target.closest(".column"));
  plot.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch" && over(event) >= 0) show(over(event));
  });
  plot.addEventListener("click", (event) => {
    const index = over(event);
    if (index < 0) return;
    // A finger cannot point first: its second tap leads on.
    const isKnown = index === current;
    show(index);
    if (isKnown) open();
  });
  plot.addEventListener("keydown", (event) => {
    if (event.key === "Enter") open();
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    show(move(current));
  });

  plot.tabIndex = 0;
  plot.role = "group";
  plot.ariaLabel = plot.querySelector("svg").ariaLabel;
  plot.classList.add("live");
  line.textContent = HINT;
  line.hidden = false;
};

document.querySelectorAll(".plot").forEach(start);
