// The id that this browser keeps, by which its tabs and reloads are one device. Only where the operator wants ids.

const place = 'footlight.device';

/** The id, made now unless there is one; null where none is wanted, and where the browser keeps nothing. */
export function deviceID(isWanted) {
  try {
    if (!isWanted) {
      // What was kept while ids were wanted is kept no longer.
      localStorage.removeItem(place);
      return null;
    }
    if (!/^[0-9a-f]{32}$/.test(localStorage.getItem(place) ?? '')) localStorage.setItem(place, randomID());
    return localStorage.getItem(place);
  } catch {
    return null;
  }
}

/** 128 random bits. */
function randomID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
