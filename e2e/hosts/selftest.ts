import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Hooks } from './clients/client.ts';
import { describePlace, find } from '../model/find.ts';
import type { ClientName } from './pins.ts';
import { prefixChanges } from '../model/prefix.ts';
import { run, type Run } from './run.ts';
import type { Script } from '../model/script.ts';

export interface SelfTest {
  /** The problems of the harness. The list is empty if the harness works. */
  readonly problems: readonly string[];
  /** The observations, for a reader. */
  readonly seen: readonly string[];
}

/** Proves that the harness drives this client and reads its requests, with no part of Earpiece between client and model. */
export async function selfTest(client: ClientName): Promise<SelfTest> {
  const tests = [await testCalls(client), await testStructuredResultAndHook(client)];
  return { problems: tests.flatMap(({ problems }) => problems), seen: tests.flatMap(({ seen }) => seen) };
}

// The script has an MCP call, then an MCP call and a shell call in parallel, and then an answer. The shell call has no $(),
// because Gemini CLI refuses $().
async function testCalls(client: ClientName): Promise<SelfTest> {
  const steps: number[] = [];
  using seen = await run(client, {
    mcpServers: echoServer('MARK'),
    script: [
      { calls: [{ mcp: 't', tool: 'echo', args: { text: 'one' } }] },
      { calls: [{ mcp: 't', tool: 'echo', args: { text: 'two' } }, { shell: "printf 'shell-%s\\n' ran-42" }] },
      { text: 'ALL-DONE' },
    ],
    onToolStep: ({ step }) => void steps.push(step),
  });
  const first = find(seen.main, 'MARK-1');
  const second = find(seen.main, 'MARK-2');
  const shell = find(seen.main, 'shell-ran-42');
  const changes = prefixChanges(seen.main);
  const problems = [
    ...problemsOf(seen),
    seen.main.length !== 3 && `${seen.main.length} requests in the conversation, not 3`,
    steps.join() !== '0,1' && `tool steps ${steps.join()}, not 0,1`,
    !seen.stdout.includes('ALL-DONE') && 'the answer was not printed',
    (first.first !== 1 || first.inLast !== 1) && `MARK-1 in requests ${first.counts.join()}`,
    first.places[0]?.result?.no !== 1 && `MARK-1 at ${describePlace(first.places[0])}`,
    (second.first !== 2 || second.inLast !== 1) && `MARK-2 in requests ${second.counts.join()}`,
    !second.places[0]?.result?.tool.endsWith('echo') && `MARK-2 at ${describePlace(second.places[0])}`,
    (shell.first !== 2 || !shell.places[0]?.result) && `the shell's output at ${describePlace(shell.places[0])}`,
    ...changes.map((change) => `an earlier message changed: ${JSON.stringify(change)}`),
    loggedRequests(seen) !== seen.all.length && `${loggedRequests(seen)} of ${seen.all.length} requests in the log`,
  ].filter((problem) => problem !== false);
  return {
    problems: withOutput(problems, seen),
    seen: [
      ...[first, second, shell].map(
        (found) => `${found.marker} in requests ${found.counts.join()}, ${describePlace(found.places[0])}`,
      ),
      ...new Set(seen.egress.map(({ how, target }) => `refused ${how} ${target}`)),
    ],
  };
}

/** The model of these clients reads only the structured content of a result that has structured content. */
const hidesTextBlocks: ReadonlySet<ClientName> = new Set(['claude', 'codex']);

async function testStructuredResultAndHook(client: ClientName): Promise<SelfTest> {
  const script: Script = [
    { calls: [{ mcp: 't', tool: 'sum', args: { a: 2, b: 3 } }] },
    { calls: [{ shell: 'echo hooked' }] },
    { text: 'ALL-DONE' },
  ];
  using seen = await run(client, { mcpServers: echoServer('MARK'), hooks: hooks[client], script });
  const structured = find(seen.main, 'MARK-1');
  const hook = find(seen.main, 'HOOK-MARK');
  const hidden = structured.first < 0;
  const problems = [
    ...problemsOf(seen),
    seen.main.length !== 3 && `${seen.main.length} requests in the conversation, not 3`,
    hidden !== hidesTextBlocks.has(client) && `a structured result's text block was ${hidden ? 'hidden' : 'shown'}`,
    hook.first < 0 && "the hook's text is absent",
  ].filter((problem) => problem !== false);
  return {
    problems: withOutput(problems, seen),
    seen: [
      `a structured result's text block is ${hidden ? 'hidden' : 'shown'}`,
      ...hook.places.map((place) => `hook's text: ${describePlace(place)}`),
    ],
  };
}

const echoServer = (mark: string) => ({
  t: { command: process.execPath, args: [fileURLToPath(new URL('echo-server.ts', import.meta.url))], env: { MARK: mark } },
});

const contextHook = (event: string): Hooks => {
  const output = { hookSpecificOutput: { hookEventName: event, additionalContext: 'HOOK-MARK' } };
  return { commands: { afterTool: `echo '${JSON.stringify(output)}'` } };
};

const hooks: Readonly<Record<ClientName, Hooks>> = {
  claude: contextHook('PostToolUse'),
  codex: contextHook('PostToolUse'),
  gemini: contextHook('AfterTool'),
  qwen: contextHook('PostToolUse'),
  opencode: {
    files: {
      'mark.js': `export const Mark = async () => ({ 'tool.execute.after': async (input, output) => {
        if (typeof output.output === 'string') output.output += '\\nHOOK-MARK'; } });`,
    },
  },
  pi: {
    files: {
      'mark.ts': `export default (pi) => pi.on('tool_result', async (event) =>
        ({ content: [...event.content, { type: 'text', text: 'HOOK-MARK' }] }));`,
    },
  },
};

const problemsOf = (seen: Run): (string | false)[] => [
  seen.timedOut ? 'timed out' : seen.exitCode !== 0 && `ended with ${seen.exitCode ?? seen.signal}`,
  seen.leftovers.length > 0 && `left ${seen.leftovers.map(({ command }) => command).join('; ')}`,
];

const withOutput = (problems: readonly string[], seen: Run): readonly string[] =>
  problems.length ? [...problems, `stdout ${seen.stdout.slice(-600)}`, `stderr ${seen.stderr.slice(-1200)}`] : [];

const loggedRequests = (seen: Run): number =>
  fs
    .readFileSync(seen.log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"type":"request"') && line.includes('"method":"POST"')).length;
