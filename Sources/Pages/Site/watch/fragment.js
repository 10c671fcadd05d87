// The little of ISO/IEC 14496-12 that says when a fragment plays.

function* boxes(view, start, end) {
  let at = start;
  while (at + 8 <= end) {
    let size = view.getUint32(at);
    let header = 8;
    if (size === 1 && at + 16 <= end) {
      size = Number(view.getBigUint64(at + 8));
      header = 16;
    } else if (size === 0) {
      size = end - at;
    }
    if (size < header || at + size > end) return;
    yield { type: view.getUint32(at + 4), start: at + header, end: at + size };
    at += size;
  }
}

const code = (text) => [...text].reduce((number, letter) => number * 256 + letter.charCodeAt(0), 0);
const [moov, trak, tkhd, mdia, mdhd] = ['moov', 'trak', 'tkhd', 'mdia', 'mdhd'].map(code);
const [moof, traf, tfhd, tfdt] = ['moof', 'traf', 'tfhd', 'tfdt'].map(code);

function* find(view, range, ...path) {
  for (const box of boxes(view, range.start, range.end)) {
    if (box.type !== path[0]) continue;
    if (path.length === 1) yield box;
    else yield* find(view, box, ...path.slice(1));
  }
}

const whole = (view) => ({ start: 0, end: view.byteLength });

/** Ticks per second of each track of an initialization, by track id. */
export function readTimescales(buffer) {
  const view = new DataView(buffer);
  const timescales = new Map();
  for (const track of find(view, whole(view), moov, trak)) {
    const [head] = find(view, track, tkhd);
    const [media] = find(view, track, mdia, mdhd);
    if (!head || !media) continue;
    const id = view.getUint32(head.start + (view.getUint8(head.start) === 1 ? 20 : 12));
    timescales.set(id, view.getUint32(media.start + (view.getUint8(media.start) === 1 ? 20 : 12)));
  }
  return timescales;
}

/** Returns the start time of a fragment in seconds; null if unknown. */
export function readStart(buffer, timescales) {
  const view = new DataView(buffer);
  let earliest = null;
  const [first] = find(view, whole(view), moof);
  if (!first) return null;
  for (const track of find(view, first, traf)) {
    const [head] = find(view, track, tfhd);
    const [time] = find(view, track, tfdt);
    const timescale = head && timescales.get(view.getUint32(head.start + 4));
    if (!time || !timescale) continue;
    const ticks = view.getUint8(time.start) === 1
      ? Number(view.getBigUint64(time.start + 4)) : view.getUint32(time.start + 4);
    const seconds = ticks / timescale;
    if (earliest === null || seconds < earliest) earliest = seconds;
  }
  return earliest;
}
