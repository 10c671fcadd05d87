// Fetching with a deadline, and coming back after a failure.

export class HTTPFailure extends Error {
  /** @param error The gateway's own description of the failure; null where it has none. */
  constructor(status, url, error = null) {
    super(`${status} for ${new URL(url).pathname}`);
    this.status = status;
    this.code = error?.code ?? null;
    this.reason = error?.message ?? null;
    this.advice = error?.solution ?? null;
  }

  /** Reads the failure from an answer. */
  static async of(response) {
    return new HTTPFailure(response.status, response.url, await errorOf(response));
  }
}

async function errorOf(response) {
  if (!response.headers.get('Content-Type')?.startsWith('application/json')) return null;
  try {
    return (await response.json()).error;
  } catch {
    return null;
  }
}

/**
 * The body of an answer.
 *
 * @param read `text` or `arrayBuffer`.
 * @param seconds After which it is given up.
 */
export async function take(url, read, { signal, seconds = 10 } = {}) {
  const limit = AbortSignal.timeout(seconds * 1000);
  const response = await fetch(url, { signal: signal ? AbortSignal.any([signal, limit]) : limit });
  if (!response.ok) throw await HTTPFailure.of(response);
  return { body: await response[read](), url: response.url };
}

/** Waits; ends early, and without an error, when the signal is given. */
export function pause(seconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

/** Waits longer after each failure in a row, never for all players the same. */
export class BackOff {
  constructor(first = 0.5, longest = 8) {
    this.first = first;
    this.longest = longest;
    this.failures = 0;
  }

  succeeded() {
    this.failures = 0;
  }

  /** Seconds to wait after one more failure. */
  failed() {
    const seconds = Math.min(this.longest, this.first * 2 ** this.failures);
    this.failures += 1;
    return seconds * (0.75 + Math.random() / 2);
  }
}
