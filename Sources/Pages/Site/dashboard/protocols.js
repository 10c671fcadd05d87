// The ways to watch, in the order in which charts stack them.

import { t } from '../texts/dashboard-texts.js';

export const protocols = [
  { key: 'llhls', name: 'LL-HLS' },
  { key: 'hls', name: 'HLS' },
  { key: 'rtmp', name: 'RTMP' },
  { key: 'flv', name: 'HTTP-FLV' },
  { key: 'whep', name: 'WHEP' },
  { key: 'sdk', name: t('charts.app') },
];

/** The colour of a protocol in the present theme. */
export function colorOf(key) {
  return `var(--${key})`;
}

/** Those that have viewers, or may have: the ones a report names. */
export function among(byProtocol) {
  return protocols.filter(({ key }) => key in byProtocol);
}
