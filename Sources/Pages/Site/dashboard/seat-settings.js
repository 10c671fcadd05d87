// What the encoder and the player of a host need.

import { t } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { copy } from './toast.js';

/** Seconds for which the address of a return feed is good. */
const lifetime = 86_400;

/** The server and the stream key of a seat, encrypted on their way where that is possible. */
export const ingestOf = ({ ingest }) => ingest.rtmps ?? ingest.rtmp;

/** Copies both as two lines for the settings of an encoder. */
export async function copyForEncoder(seat) {
  const { url: server, stream_key: key } = ingestOf(seat);
  const said = t('common.copiedSettings', { name: seat.display_name });
  await copy(t('common.lines', { server, key }), said, t('common.noCopy'));
}

/** Copies the address at which a host hears the program without its own voice. */
export async function copyReturnFeed(room, seat) {
  const { token } = await ask('POST', '/v1/tokens', {
    identity: seat.identity, role: 'participant', room, modes: ['SEND_AND_RECV'], expires_in: lifetime,
  });
  await copy(`${ingestOf(seat).url}/${room}.return.${seat.identity}?token=${token}`,
    t('common.copiedReturnFeed', { name: seat.display_name }), t('common.noCopy'));
}
