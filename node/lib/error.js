"use strict";

/** An error: what is wrong, where, and what to do about it. */
class LitepressError extends Error {
  constructor(parts) {
    super(parts.advice ? `${parts.message}; ${parts.advice}` : parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = "LitepressError";
    for (const part of ["kind", "advice", "file", "table", "column", "value", "record"]) {
      this[part] = parts[part] ?? undefined;
    }
  }
}

/** Returns the error of the native part, whose message is JSON, as a LitepressError. */
function told(error) {
  try {
    return new LitepressError(JSON.parse(error.message));
  } catch {
    return error;
  }
}

/** Calls the native part. */
function call(function_) {
  try {
    return function_();
  } catch (error) {
    throw told(error);
  }
}

/** Awaits the native part. */
async function settled(promise) {
  try {
    return await promise;
  } catch (error) {
    throw told(error);
  }
}

module.exports = { LitepressError, call, settled };
