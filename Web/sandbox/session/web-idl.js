// Takes what a page passes as a browser's bindings do (Web IDL): converts types, refuses unknown enumeration values,
// asks for required members, reads nothing that it does not know, and keeps a copy that the page cannot change.

export const text = (value) => {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol to a string.");
  return String(value);
};

export const flag = (value) => Boolean(value);

/** `unsigned long`: "12" is 12, and what is no number is 0. */
export const unsignedLong = (value) => Number(value) >>> 0;

export const whole = (value) => Number(value) | 0;

export const moment = (value) => {
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new TypeError("The value is not a date.");
  return time;
};

export const oneOf =
  (name, ...values) =>
  (value) => {
    const word = text(value);
    if (!values.includes(word)) throw new TypeError(`"${word}" is not a valid value of the enumeration ${name}.`);
    return word;
  };

export const listOf = (convert) => (value, version) => {
  if (typeof value !== "object" || typeof value?.[Symbol.iterator] !== "function") {
    throw new TypeError("The value is not a sequence.");
  }
  return Array.from(value, (element) => convert(element, version));
};

/** A member is a conversion, or a conversion with more: `required(text)`, `since(12, flag)`. */
export const required = (convert) => ({ convert, isRequired: true });
export const since = (version, convert) => ({ convert, since: version });

/**
 * A dictionary by its name and members. Members newer than the session's version are checked and then left out, with a
 * message to the page's developer: a device of that version does not know them.
 */
export const dictionary = (name, members, base) => {
  const names = Object.keys(members).sort();
  return (value, version = Infinity) => {
    if (value != null && typeof value !== "object" && typeof value !== "function") {
      throw new TypeError(`The value is not an object of type ${name}.`);
    }
    const result = base ? base(value, version) : {};
    for (const key of names) {
      const { convert = members[key], isRequired = false, since = 0 } = members[key];
      const given = value?.[key];
      if (given === undefined && isRequired) throw new TypeError(`Member ${name}.${key} is required.`);
      if (given === undefined) continue;
      const converted = convert(given, version);
      if (since <= version) result[key] = converted;
      else advise(`${name}.${key} came with version ${since}; a session of version ${version} does not know it.`);
    }
    return result;
  };
};

/** Logs advice for the page's developer. */
export const advise = (words) => console.warn(`Simulated Apple Pay: ${words}`);

// Kept, because a frame that is taken out of its page loses what stood on its window.
const WebException = window.DOMException;

export const refusal = (name, message) => new WebException(message, name);

export const invalidAccess = (message = "The object does not support the operation or argument.") =>
  refusal("InvalidAccessError", message);

/** What the bindings say when a method is called with too little. */
export const requireArguments = (given, wanted) => {
  if (given.length < wanted) throw new TypeError("Not enough arguments.");
};
