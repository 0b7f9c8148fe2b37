import { where } from '../gateway/ours.ts';
import { AGENT, openInbox } from '../log/ours.ts';
import type { Row } from '../row.ts';
import { wholeVersusNode } from '../whole.ts';

export const row: Row = {
  name: 'cli-inbox',
  what: 'CPU time of `earpiece inbox` with one notification that stays unread, whole process, built, against `node -e 0`',
  bar: [{ figure: 'ratio', is: '<=', value: 2.5 }],
  async run({ quick, folder }) {
    const { cwd, env } = where(folder);
    const inbox = await openInbox(folder, { file: 'gateway.db' });
    await inbox.queue(AGENT, { message: 'the build ended' });
    await inbox.close();
    return wholeVersusNode(['inbox', '--peek'], { quick, cwd, env: { ...env, EARPIECE_ADDRESS: `${AGENT}#main` } });
  },
};
