/** Tests Qwen Code in an editor: the notifications that its model reads, and their times. */
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { inEditor } from './acp.ts';
import { send } from './earpiece.ts';
import { filesOf, temporaryDatabase, withHooks } from './hooked.ts';
import { told } from './told.ts';

test('over ACP, a notification arrives once, with the next prompt or at the end of the turn, and an interrupt stops a call', async () => {
  proves('hosts:acp');
  using database = temporaryDatabase();
  const { hooks = {}, env = {} } = withHooks('qwen', database.path);
  const say = (home: string, word: string, ...options: readonly string[]): Promise<void> =>
    send(home, database.path, `${word} something happened`, '--kind', 'ci.done', ...options);
  await inEditor(
    'qwen',
    {
      hooks,
      env,
      script: [
        { calls: [{ shell: 'touch allowed' }] },
        { calls: [{ shell: 'touch refused' }] },
        { text: 'ONE' },
        { text: 'HELD' },
        { text: 'TWO' },
      ],
      async onToolStep(step, home) {
        if (step === 0) await say(home, 'INFO');
        if (step === 0) await say(home, 'ERROR', '--level', 'error');
        if (step === 1) await say(home, 'CRITICAL', '--level', 'critical');
      },
    },
    async (editor) => {
      const session = await editor.open();
      await say(editor.home, 'FIRST');
      await editor.prompt(session, 'go');
      const first = editor.main.length;
      await say(editor.home, 'LAST');
      await editor.prompt(session, 'go on');
      const times = ['FIRST', 'INFO', 'ERROR', 'CRITICAL', 'LAST'].map((word) => told(editor, `${word} something`));
      expect(times).toEqual([1, 1, 1, 1, 1]);
      const early = { client: editor.client, main: editor.main.slice(0, 1) };
      expect(told(early, 'FIRST something')).toBe(1);
      const before = { client: editor.client, main: editor.main.slice(0, first) };
      expect([told(before, 'ERROR something'), told(before, 'LAST something')]).toEqual([1, 0]);
      expect(filesOf(editor)).toEqual(['allowed']);
    },
  );
});
