// The control API, by the session's cookie.

import { t, wordOf } from '../texts/dashboard-texts.js';

/** A refusal of the gateway. */
export class APIError extends Error {
  constructor(status, answer) {
    const { code = null, message } = answer?.error ?? answer ?? {};
    super(wordOf('errors', code, message ?? t('common.answered', { status })));
    Object.assign(this, { status, code });
  }
}

let whenLoggedOut = () => undefined;

/** Says what to do when the session is over. */
export function onLoggedOut(handler) {
  whenLoggedOut = handler;
}

/**
 * Asks the API.
 *
 * @param body What is sent as JSON, or bytes as they are.
 * @param seconds The longest time to wait for an answer.
 * @returns What it answers; null for an answer without a body.
 * @throws APIError, or TypeError and TimeoutError when no answer comes.
 */
export async function ask(method, path, body, seconds = 10) {
  const isBinary = ArrayBuffer.isView(body);
  const type = isBinary ? 'application/octet-stream' : 'application/json';
  const response = await fetch(path, {
    method,
    // The header that no other site's page can send; the gateway takes commands by the cookie only with it.
    headers: { 'X-Footlight-Page': '1', ...(body === undefined ? {} : { 'Content-Type': type }) },
    body: body === undefined || isBinary ? body : JSON.stringify(body),
    credentials: 'same-origin',
    signal: AbortSignal.timeout(seconds * 1000),
  });
  const answer = response.headers.get('Content-Type')?.includes('json') ? await response.json() : null;
  if (response.status === 401 && path !== '/dashboard/session') whenLoggedOut();
  if (!response.ok) {
    const refusal = new APIError(response.status, answer);
    refusal.retryAfter = Number(response.headers.get('Retry-After')) || null;
    throw refusal;
  }
  return answer;
}

/**
 * Sends the bytes of a file.
 *
 * @param onProgress Called with how much of it has left, 0 to 1.
 * @returns What the API answers.
 * @throws APIError, or an error with words for people when no answer comes.
 */
export function upload(path, file, onProgress) {
  // Unlike `fetch` it tells how much has left.
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open('PUT', path);
    request.setRequestHeader('X-Footlight-Page', '1');
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('error', () => reject(new Error(t('common.lost'))));
    request.addEventListener('load', () => {
      if (request.status === 401) whenLoggedOut();
      if (request.status < 300) resolve(request.response);
      else reject(new APIError(request.status, request.response));
    });
    request.send(file);
  });
}

/** As `ask`, but null where there is no such address. */
export async function askIfThere(path) {
  try {
    return await ask('GET', path);
  } catch (error) {
    if (error instanceof APIError && [404, 405, 501].includes(error.status)) return null;
    throw error;
  }
}

/** The address of a room, and of what is below it. */
export const roomPath = (room, rest = '') => `/v1/rooms/${encodeURIComponent(room)}${rest}`;
