import { logKey, type ConversationId } from '../../src/core/address.ts';
import { begin, selfOwner } from '../../src/inbox/index.ts';
import { openInbox } from '../log/ours.ts';
import type { Row } from '../row.ts';
import { wholeVersusNode } from '../whole.ts';

export const row: Row = {
  name: 'hook',
  what: 'CPU time of `earpiece hook claude` with nothing open, whole process, built, against `node -e 0`',
  bar: [{ figure: 'ratio', is: '<=', value: 1.5 }],
  async run({ quick, folder }) {
    const inbox = await openInbox(folder);
    const [host, log, id] = [selfOwner(), logKey('bench', 'claude-code'), 'session' as ConversationId];
    await inbox.bind(host, { log, conversation: id });
    const conversation = inbox.conversation({ log, conversation: id }, { process: host, carrier: 'hook' });
    await begin(conversation);
    const input = JSON.stringify({ hook_event_name: 'PreToolUse', session_id: id, cwd: folder, tool_name: 'Bash' });
    const db = inbox.store.name.replace(/^sqlite /, '');
    const measured = await wholeVersusNode(['hook', 'claude'], {
      quick,
      input,
      env: { EARPIECE_DB: db },
      before: () => inbox.store.touch({ log, conversation: id }),
    });
    await inbox.close();
    return measured;
  },
};
