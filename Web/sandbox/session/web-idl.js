// Takes what a page passes as WebKit's bindings do (Web IDL): converts types, refuses unknown enumeration values, asks for
// required members, reads nothing that it does not know, and keeps a copy that the page cannot change. Messages are
// WebKit's: developers search for them.

/** What the bindings say of a value that no more can be said of. */
export const typeError = () => new TypeError("Type error");

/** A conversion, with the name of its type for messages. */
const typed = (typeName, convert) => Object.assign(convert, { typeName });

export const text = typed("DOMString", (value) => {
  if (typeof value === "symbol") throw new TypeError("Cannot convert a symbol to a string");
  return String(value);
});

export const flag = typed("boolean", (value) => Boolean(value));

/** `unsigned long`: "12" is 12, and what is no number is 0. */
export const unsignedLong = typed("unsigned long", (value) => Number(value) >>> 0);

export const unsignedShort = typed("unsigned short", (value) => Number(value) & 0xffff);

/** `Date`: what is no time stands for none. */
export const moment = typed("Date", (value) => {
  const isTime = value instanceof Date || typeof value === "string" || typeof value === "number";
  const time = isTime ? new Date(value) : undefined;
  return Number.isNaN(time?.getTime()) ? undefined : time;
});

/** Any object, which is not read. */
export const anObject = typed("object", (value) => {
  if (!isObject(value)) throw typeError();
  return value;
});

export const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

export const oneOf = (name, ...values) =>
  Object.assign(
    typed(name, (value) => {
      const word = text(value);
      if (!values.includes(word)) throw typeError();
      return word;
    }),
    { values },
  );

/** An enumeration as the argument of a call, whose message names what it may be. */
export const argument = (number, name, call, enumeration) => (value) => {
  const word = text(value);
  if (enumeration.values.includes(word)) return word;
  const values = enumeration.values.map((one) => `"${one}"`).join(", ");
  throw new TypeError(`Argument ${number} ('${name}') to ${call} must be one of: ${values}`);
};

export const listOf = (convert) =>
  typed("sequence", (value, device) => {
    if (!isObject(value)) throw new TypeError("Value is not a sequence");
    if (typeof value[Symbol.iterator] !== "function") throw typeError();
    return Array.from(value, (element) => convert(element, device));
  });

/** A member is a conversion, or a conversion with more: `required(text)`, `since(12, flag)`. */
export const required = (convert) => ({ convert, isRequired: true });
export const since = (version, convert) => ({ convert, since: version });

/**
 * A dictionary by its name and members. A member that is newer than the device is not read, with a message to the page's
 * developer. The base's members are read first, each dictionary's in the order of their names.
 */
export const dictionary = (name, members, base) => {
  const names = Object.keys(members).sort();
  return typed(name, (value, device = Infinity, outer = name) => {
    if (value != null && !isObject(value)) throw typeError();
    const result = base ? base(value, device, outer) : {};
    for (const key of names) {
      const { convert = members[key], isRequired = false, since = 0 } = members[key];
      if (since > device) adviseOfNewMember(value?.[key], `${outer}.${key}`, since, device);
      else readMember(result, value?.[key], { key, convert, isRequired, device, outer });
    }
    return result;
  });
};

const readMember = (result, given, { key, convert, isRequired, device, outer }) => {
  if (given === undefined) {
    if (!isRequired) return;
    throw new TypeError(`Member ${outer}.${key} is required and must be an instance of ${convert.typeName}`);
  }
  const converted = convert(given, device);
  if (converted !== undefined) result[key] = converted;
};

const adviseOfNewMember = (given, member, since, device) => {
  if (given !== undefined) advise(`${member} came with version ${since}; a device of version ${device} ignores it.`);
};

/** Logs advice for the page's developer. */
export const advise = (words) => console.warn(`Simulated Apple Pay: ${words}`);

/** Logs what WebKit writes to the console. */
export const warn = (words) => console.warn(words);

// Kept, because a frame that is taken out of its page loses what stood on its window.
const WebException = window.DOMException;

const MESSAGES = {
  AbortError: "The operation was aborted.",
  InvalidAccessError: "The object does not support the operation or argument.",
  InvalidStateError: "The object is in an invalid state.",
  NotSupportedError: "The operation is not supported.",
  SecurityError: "The operation is insecure.",
};

export const refusal = (name, message = MESSAGES[name]) => new WebException(message, name);

export const invalidAccess = (message) => refusal("InvalidAccessError", message);
export const invalidState = () => refusal("InvalidStateError");
export const aborted = () => refusal("AbortError");

/** What the bindings say when a method is called with too little. */
export const requireArguments = (given, wanted) => {
  if (given.length < wanted) throw new TypeError("Not enough arguments");
};

/** An object as JSON, and read again: what Payment Request does with the `data` of methods, modifiers and results. */
export const throughJSON = (value) => {
  const serialized = stringify(value);
  return serialized === undefined ? undefined : JSON.parse(serialized);
};

const stringify = (value) => {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (/circular/i.test(error?.message)) {
      throw new TypeError("JSON.stringify cannot serialize cyclic structures.", { cause: error });
    }
    if (/BigInt/.test(error?.message)) throw new TypeError("JSON.stringify cannot serialize BigInt.", { cause: error });
    throw error;
  }
};

/** A class as the bindings show it: a call without `new` has WebKit's message. */
export const asInterface = (type) =>
  new Proxy(type, {
    apply() {
      throw new TypeError("Constructor requires 'new' operator");
    },
  });
