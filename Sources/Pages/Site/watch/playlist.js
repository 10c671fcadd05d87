// Reads HLS playlists (RFC 8216bis): what there is to play, and where.

const attributePattern = /([A-Z0-9-]+)=("[^"]*"|[^,]*)/g;

/** The attributes of a tag by name; quotes are taken off. */
export function parseAttributes(text) {
  const attributes = {};
  for (const [, name, value] of text.matchAll(attributePattern)) {
    attributes[name] = value.startsWith('"') ? value.slice(1, -1) : value;
  }
  return attributes;
}

function linesOf(text) {
  const lines = text.split(/\r?\n/);
  if (!lines[0].startsWith('#EXTM3U')) throw new Error('not a playlist');
  return lines.slice(1).filter((line) => line !== '');
}

/** The ways to play a program, in the playlist's order; `base` is the playlist's own address. */
export function parseMultivariant(text, base) {
  const variants = [];
  let pending = null;
  for (const line of linesOf(text)) {
    if (line.startsWith('#EXT-X-STREAM-INF:')) {
      const attributes = parseAttributes(line.slice(18));
      const [width, height] = (attributes.RESOLUTION ?? '').split('x').map(Number);
      pending = {
        bandwidth: Number(attributes.BANDWIDTH) || 0,
        averageBandwidth: Number(attributes['AVERAGE-BANDWIDTH']) || 0,
        codecs: attributes.CODECS ?? '',
        width: width || 0,
        height: height || 0,
        frameRate: Number(attributes['FRAME-RATE']) || 0,
      };
    } else if (!line.startsWith('#') && pending) {
      variants.push({ ...pending, url: new URL(line, base).href });
      pending = null;
    }
  }
  return variants;
}

/**
 * A media playlist.
 *
 * A segment that is still being made has a null `url` and only parts. `discontinuity` counts from the beginning of the
 * program, so two segments with the same number belong together. `date` is in milliseconds since 1970, or null.
 */
export function parseMedia(text, base) {
  const playlist = {
    targetDuration: 2, partTarget: null, partHoldBack: null, holdBack: null, canBlockReload: false,
    mediaSequence: 0, segments: [], hint: null, isEnded: false,
  };
  const resolve = (uri) => new URL(uri, base).href;
  let discontinuity = 0;
  let map = null;
  let nextDate = null;
  let sequence = 0;
  let segment = null;

  const open = () => {
    segment ??= { sequence, duration: 0, url: null, map, discontinuity, date: nextDate, parts: [] };
    return segment;
  };

  for (const line of linesOf(text)) {
    const colon = line.indexOf(':');
    const tag = line.startsWith('#') ? line.slice(0, colon < 0 ? undefined : colon) : '';
    const value = colon < 0 ? '' : line.slice(colon + 1);
    switch (tag) {
      case '': {
        const closed = open();
        closed.url = resolve(line);
        playlist.segments.push(closed);
        nextDate = closed.date === null ? null : closed.date + closed.duration * 1000;
        segment = null;
        sequence += 1;
        break;
      }
      case '#EXT-X-TARGETDURATION': playlist.targetDuration = Number(value) || 2; break;
      case '#EXT-X-MEDIA-SEQUENCE': sequence = playlist.mediaSequence = Number(value) || 0; break;
      case '#EXT-X-DISCONTINUITY-SEQUENCE': discontinuity = Number(value) || 0; break;
      case '#EXT-X-DISCONTINUITY': discontinuity += 1; nextDate = null; break;
      case '#EXT-X-MAP': map = resolve(parseAttributes(value).URI); break;
      case '#EXT-X-PROGRAM-DATE-TIME': nextDate = Date.parse(value) || null; break;
      case '#EXTINF': open().duration = parseFloat(value) || 0; break;
      case '#EXT-X-ENDLIST': playlist.isEnded = true; break;
      case '#EXT-X-GAP': open().isGap = true; break;
      case '#EXT-X-PART-INF': playlist.partTarget = Number(parseAttributes(value)['PART-TARGET']) || null; break;
      case '#EXT-X-SERVER-CONTROL': {
        const attributes = parseAttributes(value);
        playlist.canBlockReload = attributes['CAN-BLOCK-RELOAD'] === 'YES';
        playlist.partHoldBack = Number(attributes['PART-HOLD-BACK']) || null;
        playlist.holdBack = Number(attributes['HOLD-BACK']) || null;
        break;
      }
      case '#EXT-X-PART': {
        const attributes = parseAttributes(value);
        open().parts.push({
          url: resolve(attributes.URI),
          duration: Number(attributes.DURATION) || 0,
          isIndependent: attributes.INDEPENDENT === 'YES',
          isGap: attributes.GAP === 'YES',
        });
        break;
      }
      case '#EXT-X-PRELOAD-HINT': {
        const attributes = parseAttributes(value);
        if (attributes.TYPE === 'PART' && !attributes['BYTERANGE-START']) playlist.hint = resolve(attributes.URI);
        break;
      }
      default: break;
    }
  }
  if (segment) playlist.segments.push(segment);
  return playlist;
}

/** The part that a playlist will list next: for `_HLS_msn` and `_HLS_part` of a blocking reload. */
export function nextPart(playlist) {
  const last = playlist.segments.at(-1);
  if (!last) return { sequence: playlist.mediaSequence, part: 0 };
  return last.url === null
    ? { sequence: last.sequence, part: last.parts.length }
    : { sequence: last.sequence + 1, part: 0 };
}

/**
 * What can be fetched, in order: parts where they are listed, otherwise whole segments.
 *
 * `index` is null for a whole segment.
 */
export function unitsOf(playlist) {
  const units = [];
  for (const segment of playlist.segments) {
    const { sequence, map, discontinuity } = segment;
    if (playlist.partTarget === null || segment.parts.length === 0) {
      if (segment.url) {
        const { url, duration, date, isGap } = segment;
        units.push({ sequence, index: null, map, discontinuity, url, duration, date, isGap, isIndependent: true });
      }
      continue;
    }
    let date = segment.date;
    segment.parts.forEach((part, index) => {
      const isLastOfSegment = segment.url !== null && index === segment.parts.length - 1;
      units.push({ sequence, index, map, discontinuity, date, isLastOfSegment, ...part });
      if (date !== null) date += part.duration * 1000;
    });
  }
  return units;
}

/** Where to begin: the last unit with a key frame that leaves `holdBack` seconds to the end of the list. */
export function firstUnit(units, holdBack) {
  let distance = 0;
  for (let place = units.length - 1; place >= 0; place -= 1) {
    distance += units[place].duration;
    if (distance >= holdBack && units[place].isIndependent) return place;
  }
  return Math.max(0, units.findIndex((unit) => unit.isIndependent));
}

/**
 * The units that follow the one that was taken last.
 *
 * Parts of older segments are not listed any more; a segment of which a part is missing is then taken whole.
 */
export function unitsAfter(units, last) {
  if (!last) return units;
  const whole = units.find((unit) => unit.sequence === last.sequence && unit.index === null);
  return units.filter((unit) => {
    if (unit.sequence !== last.sequence) return unit.sequence > last.sequence;
    if (last.index === null) return false;
    if (unit.index !== null) return unit.index > last.index;
    return unit === whole && !last.isLastOfSegment;
  });
}
