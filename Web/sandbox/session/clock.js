// The sheet's clock. A test can stop and advance it, to test time limits without waiting.

/** How long a page may take to answer an event. */
export const ANSWER_WITHIN = 30_000;

export const clock = new (class {
  #alarms = new Set();
  #held; // the time that a test holds, or nothing

  get isHeld() {
    return this.#held !== undefined;
  }

  now() {
    return this.#held ?? performance.now();
  }

  /** Calls once after so many milliseconds, unless the function that is returned was called before. */
  after(milliseconds, call) {
    const alarm = { due: this.now() + milliseconds, call };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => this.#forget(alarm);
  }

  hold() {
    this.#held ??= performance.now();
    for (const alarm of this.#alarms) clearTimeout(alarm.timer);
  }

  /** Moves the held time on; what falls due on the way happens in its order, each thing at its own moment. */
  async advance(milliseconds) {
    if (!this.isHeld) throw new Error("Hold the clock first: applePaySandbox.clock.hold().");
    const end = this.#held + milliseconds;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#held = Math.max(this.#held, next.due);
      this.#ring(next);
      await aTask();
    }
    this.#held = end;
  }

  /** Time goes on by itself. What was to happen keeps the time that it had left. */
  release() {
    if (!this.isHeld) return;
    const shift = performance.now() - this.#held;
    this.#held = undefined;
    for (const alarm of this.#alarms) {
      alarm.due += shift;
      this.#arm(alarm);
    }
  }

  #arm(alarm) {
    if (!this.isHeld) alarm.timer = setTimeout(() => this.#ring(alarm), Math.max(0, alarm.due - performance.now()));
  }

  #ring(alarm) {
    this.#forget(alarm);
    alarm.call();
  }

  #forget(alarm) {
    clearTimeout(alarm.timer);
    this.#alarms.delete(alarm);
  }

  #next(end) {
    return [...this.#alarms].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
  }
})();

/** Resolves in a later task, when everything that was under way in this one is done. */
export const aTask = () => new Promise((resolve) => setTimeout(resolve));
