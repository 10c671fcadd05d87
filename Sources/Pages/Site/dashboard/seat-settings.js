// What the encoder and the player of a host need.

import { ask } from './api.js';
import { copy } from './toast.js';

/** Seconds for which the address of a return feed is good. */
const lifetime = 86_400;
const refused = 'The browser does not let this page copy. It does by HTTPS, and on the machine of the gateway.';

/** The server and the stream key of a seat, encrypted on their way where that is possible. */
export const ingestOf = ({ ingest }) => ingest.rtmps ?? ingest.rtmp;

/** Copies both as two lines for the settings of an encoder. */
export async function copyForEncoder(seat) {
  const { url, stream_key: key } = ingestOf(seat);
  await copy(`Server: ${url}\nStream key: ${key}`, `The settings for ${seat.display_name} are copied`, refused);
}

/** Copies the address at which a host hears the program without its own voice. */
export async function copyReturnFeed(room, seat) {
  const { token } = await ask('POST', '/v1/tokens', {
    identity: seat.identity, role: 'participant', room, modes: ['SEND_AND_RECV'], expires_in: lifetime,
  });
  await copy(`${ingestOf(seat).url}/${room}.return.${seat.identity}?token=${token}`,
    `The address for ${seat.display_name} is copied; it is good for a day, and only for this host`, refused);
}
