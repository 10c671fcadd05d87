// The panels of a room, and what keeps them up to date; the room's page and the show's page arrange them.

import { APIError, ask, roomPath } from './api.js';
import { downloads } from './downloads.js';
import { figuresPanel } from './figures-panel.js';
import { historyPanel } from './history-panel.js';
import { hostsPanel } from './hosts-panel.js';
import { layoutPanel } from './layout-panel.js';
import { membersPanel } from './members-panel.js';
import { outputsPanel } from './outputs-panel.js';
import { overlaysPanel } from './overlays-panel.js';
import { poll } from './poll.js';
import { programMonitor } from './program-monitor.js';
import { RoomStream } from './room-stream.js';
import { withParticipants } from './room-state.js';
import { talkbackPanel } from './talkback-panel.js';

/**
 * Makes the panels of a room by its name.
 *
 * @param isOfShow Whether it is the room of a show.
 * @param onState Called with each state of the room.
 * @param onMissing Called when there is no such room.
 * @param onDiagnosis Called with what keeps hosts from being heard and seen.
 */
export function roomParts(name, { mayCommand, isOfShow = false, onHealth, onState, onMissing, onDiagnosis = () => undefined }) {
  const figures = figuresPanel(name);
  const history = historyPanel(name);
  const listHosts = async () => {
    const { participants } = await ask('GET', roomPath(name, '/participants?mode=SEND_AND_RECV&page_size=50'));
    if (stream.state.room) stream.update((state) => withParticipants(state, participants));
  };
  const hosts = hostsPanel(name, { mayCommand, onOrder: listHosts });
  const picture = programMonitor(name, { mayCommand });
  const members = membersPanel(name, { mayCommand });
  const outputs = outputsPanel(name, { mayCommand, isOfShow });
  const layout = layoutPanel(name, { mayCommand });
  const overlays = overlaysPanel(name, { mayCommand });
  const talkback = mayCommand ? talkbackPanel(name) : null;

  const showFigures = (viewership) => {
    figures.update(viewership);
    history.update(viewership);
  };
  const stream = new RoomStream(name, {
    onState(state) {
      const { room, hls } = state;
      if (room) {
        const isLive = hls?.state === 'HLS_PLAYABLE';
        figures.setBegin(isLive && hls.started_at ? Date.parse(hls.started_at) : null);
      }
      picture.update(state);
      hosts.update(state.participants, room?.host_order);
      talkback?.update(state.participants);
      outputs.update(state);
      layout.update(state.layout);
      overlays.update(state.layout);
      if (state.viewership) showFigures(state.viewership);
      onState(state);
    },
    onHealth,
  });
  const stops = [
    // No event reports levels and sync, so they are polled.
    poll(1, listHosts),
    poll(2, async () => {
      try {
        showFigures(await ask('GET', roomPath(name, '/viewership')));
      } catch (error) {
        if (error instanceof APIError && error.status === 404) onMissing();
        throw error;
      }
    }),
    poll(3, async () => {
      const diagnosis = await ask('GET', roomPath(name, '/diagnosis'));
      hosts.diagnose(diagnosis.hosts);
      onDiagnosis(diagnosis);
    }),
    // Bytes sent, which no event tells either.
    poll(5, async () => {
      const { livestream } = await ask('GET', roomPath(name, '/egress'));
      if (stream.state.room) stream.update((state) => ({ ...state, livestream }));
    }),
  ];
  return {
    picture, figures, history, hosts, talkback, members, outputs, layout, overlays, downloads: downloads(name),
    restyle: history.restyle,
    close() {
      stream.close();
      for (const stop of stops) stop();
      for (const part of [picture, figures, history, hosts, talkback, members, layout]) part?.close();
    },
  };
}
