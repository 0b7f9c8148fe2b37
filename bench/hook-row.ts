import { logKey, type ConversationId } from '../src/core/address.ts';
import { begin, selfOwner } from '../src/inbox/index.ts';
import { openInbox } from './log/ours.ts';
import type { Row } from './row.ts';
import { wholeVersusNode } from './whole.ts';

/**
 * Makes the row for a host's hook before a tool, in a session without open notifications. `agent` is the host's name in
 * `KNOWN_HOSTS`.
 */
export const hookRow = (
  name: string,
  host: string,
  { agent, event }: { readonly agent: string; readonly event: string },
): Row => ({
  name,
  what: `CPU time of \`earpiece hook ${host}\` with nothing open, whole process, built, against \`node -e 0\``,
  bar: [{ figure: 'ratio', is: '<=', value: 1.5 }],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder);
    const [process, log, id] = [selfOwner(), logKey('bench', agent), 'session' as ConversationId];
    await inbox.bind(process, { log, conversation: id });
    const conversation = inbox.conversation({ log, conversation: id }, { process, carrier: 'hook' });
    await begin(conversation);
    const input = JSON.stringify({ hook_event_name: event, session_id: id, cwd: folder, tool_name: 'shell' });
    const db = inbox.store.name.replace(/^sqlite /, '');
    const measured = await wholeVersusNode(['hook', host], {
      quick,
      input,
      env: { EARPIECE_DB: db },
      before: () => inbox.store.touch({ log, conversation: id }),
    });
    await inbox.close();
    return measured;
  },
});
