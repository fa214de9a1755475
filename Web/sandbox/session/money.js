// How sums and times are written in the sheet: in the page's language, as a device writes them in its owner's.

export const language = () => document.documentElement.lang || navigator.language;

export class Money {
  #format;

  constructor(currency) {
    this.#format = new Intl.NumberFormat(language(), { style: "currency", currency });
  }

  /** The text of an amount is exact, and stays so. */
  of({ amount, type }) {
    return type === "pending" ? "Amount pending" : this.#format.format(amount);
  }
}

/** "12–14 March", from Apple's date components, whose months and days count from one. */
export const dateRange = ({ startDateComponents: start, endDateComponents: end }) => {
  const hasHours = start.hours !== undefined || end.hours !== undefined;
  const options = { day: "numeric", month: "long", ...(hasHours ? { hour: "numeric" } : {}) };
  const [from, to] = [start, end].map(dateOf);
  try {
    return new Intl.DateTimeFormat(language(), options).formatRange(from, to);
  } catch {
    return ""; // components that make no date
  }
};

const dateOf = ({ years = new Date().getFullYear(), months = 1, days = 1, hours = 0 }) =>
  new Date(years, months - 1, days, hours);

/** "monthly", "every 2 years": how often a recurring item is due. */
export const interval = ({ recurringPaymentIntervalUnit: unit = "month", recurringPaymentIntervalCount: count = 1 }) =>
  count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;

export const day = (date) => new Intl.DateTimeFormat(language(), { dateStyle: "medium" }).format(date);
