// A loop that keeps its messages in its own file. A process is killed between `toolResult` and the write of the file. The next
// process adds the missing message, so that no notification is lost or repeated.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';

/** `seq` is the position in Earpiece's log. Answers of the model have no position, because they do not pass through Earpiece. */
type Saved = {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly call?: string;
  readonly seq?: number;
};

using cleanup = new DisposableStack();
const killed = process.env['EXAMPLE_FOLDER'];
const folder = killed ?? mkdtempSync(join(tmpdir(), 'earpiece-'));
if (killed === undefined) cleanup.defer(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'messages.json');

await using ear = await openEarpiece({ db: join(folder, 'earpiece.db') });
const coder = ear.conversation('coder');

if (killed !== undefined) {
  // The same file runs as the process that is killed.
  const { text, seq } = await coder.userMessage('Why does the build fail?');
  save([
    { role: 'user', text, seq },
    { role: 'assistant', text: 'calls read_file', call: 'call_1' },
  ]);
  await ear.queue('coder', { kind: 'build.failed', level: 'error', message: 'The build failed: cart.ts(12): missing ";"' });
  await coder.toolResult({ id: 'call_1', content: 'export const rate = 0.19;' });
  process.kill(process.pid, 'SIGKILL');
}

const child = spawnSync(process.execPath, [...process.execArgv, import.meta.filename], {
  env: { ...process.env, EXAMPLE_FOLDER: folder },
  encoding: 'utf8',
});
assert.equal(child.signal, 'SIGKILL', child.stderr);

const messages = await load();
save(messages);
const next = await coder.toolResult({ id: 'call_2', content: 'cart.ts' });
save([...messages, { role: 'tool', call: 'call_2', text: next.text, seq: next.seq }]);
for (const { role, text } of await load()) console.log(`${role}> ${text}`);
assert.equal(readFileSync(file, 'utf8').split('The build failed').length, 2);

// #region load
/** Reads the saved messages, and adds the messages that Earpiece has recorded and the killed process has not saved. */
async function load(): Promise<Saved[]> {
  const saved: Saved[] = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Saved[]) : [];
  const known = new Set(saved.map(({ seq }) => seq));
  for await (const { seq, body } of coder.transcript()) {
    if (known.has(seq)) continue;
    const { type, id = '', content, view } = body as { type: string; id?: string; content?: string; view?: { text: string } };
    const text = [content, view?.text].filter(Boolean).join('\n\n');
    if (type === 'chat_request') saved.push({ role: 'user', text, seq });
    if (type === 'tool_call_response') saved.push({ role: 'tool', call: id, text, seq });
  }
  return saved;
}

/** Writes the file in one step, so that a crash leaves the old or the new messages. */
function save(all: readonly Saved[]): void {
  writeFileSync(`${file}.new`, JSON.stringify(all));
  renameSync(`${file}.new`, file);
}
// #endregion

// Output:
// user> Why does the build fail?
// assistant> calls read_file
// tool> export const rate = 0.19;
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// build error: The build failed: cart.ts(12): missing ";"
// [/ep k7f3]
// tool> cart.ts
