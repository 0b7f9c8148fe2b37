// Sources and webhooks in your own program: a repository that others change, a reminder in a person's words, a signed webhook,
// and subscribers from a folder of your choice.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';
import {
  gitSource,
  parseWhen,
  receive,
  receiverFrom,
  subscriberFolders,
  timersSource,
  type WebhookSettings,
} from 'earpiece/sources';

using cleanup = new DisposableStack();
const root = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(root, { recursive: true }));
const git = (...args: readonly string[]): void =>
  void execFileSync('git', ['-c', 'user.name=anna', '-c', 'user.email=anna@example.com', ...args], { cwd: root });
git('init', '-q', '-b', 'main');
git('commit', '-q', '--allow-empty', '-m', 'first');
mkdirSync(join(root, '.earpiece/subscribers'), { recursive: true });
writeFileSync(
  join(root, '.earpiece/subscribers/deploys.toml'),
  `[subscriber]
id = "deploys"
name = "Deploys"

[events]
types = ["deploy.*"]
`,
);

// #region subscribers
// The subscribers of this folder, and the shipped subscribers. Without `subscribers`, the files of a project need `earpiece trust`.
await using ear = await openEarpiece({ db: 'memory:', cwd: root, subscribers: subscriberFolders({ root }) });
// #endregion

// #region git
const source = gitSource({ earpiece: ear, subject: 'coder', root });
await source.start();
// #endregion
git('switch', '-q', '-c', 'fix');
for await (const _queued of ear.watch({ after: 0, types: ['system_notification_queued'], signal: AbortSignal.timeout(20_000) }))
  break;
await source.stop();

// #region reminder
const timers = timersSource({ earpiece: ear });
const when = await parseWhen('after 1 turn', { now: Date.now(), timeZone: 'Europe/Berlin' });
await timers.remind({ subject: 'coder', message: 'Look at the build', when });
// #endregion

// #region webhook
const map = { type: 'deploy.{state}', message: '{text}' };
const settings: WebhookSettings = { kind: 'json', to: `${ear.project}/coder`, secretEnv: 'DEPLOY_SECRET', map };
const made = receiverFrom('deploys', settings, { DEPLOY_SECRET: 'not-a-secret' });
if (made.kind === 'problem') throw new Error(made.problem);
const { receiver } = made;

/** Answers one request of your HTTP server. */
async function answer(headers: Record<string, string>, body: Buffer): Promise<number> {
  const received = receive({ receiver, headers, body, now: Date.now() });
  if (received.kind === 'refused') return received.status;
  for (const event of received.events) await ear.events.emit(event);
  return 202;
}
// #endregion
const body = Buffer.from('{ "state": "failed", "text": "The deploy of the shop failed" }');
console.log(await answer({ 'content-type': 'application/json', authorization: 'Bearer not-a-secret' }, body));
console.log(await answer({ 'content-type': 'application/json', authorization: 'Bearer wrong' }, body));

const coder = ear.conversation('coder');
const { text } = await coder.userMessage('Go on');
console.log(text);
console.log((await coder.userMessage('And now?')).text);
assert.match(text, /The deploy of the shop failed/u);

// Output:
// 202
// 401
// Go on
//
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// git warning: git_branch: switched from main to fix
// deploy info: The deploy of the shop failed
// [/ep k7f3]
// And now?
//
// [ep k7f3] 1 notification, automatic, no human typed this
// timer info: Reminder: Look at the build
// [/ep k7f3]
