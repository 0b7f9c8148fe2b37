/**
 * Runs an agent that starts some handles, prints their list, and waits to be killed. The argument of the program is its folder.
 */
import { handleRegistry, runTool, type StatefulTool } from '../../src/handles/index.ts';

const [folder = ''] = process.argv.slice(2);
const idle: StatefulTool = {
  name: 'idle',
  description: 'Does nothing.',
  parameters: { properties: {} },
  run: () => new Promise(() => {}),
};
const handles = handleRegistry({
  tools: [runTool(), idle],
  address: 'shop/coder#main',
  folder,
  // The agent's inbox fails, so the agent cannot report a handle that has ended.
  inbox: { queue: async () => Promise.reject(new Error('away')), withdraw: async () => {} },
  onTrouble: () => {},
});
const call = (name: string, args: Record<string, string | boolean>, id: string): Promise<{ content: string }> => {
  const tool = handles.tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(name);
  return tool.execute(args, { id, signal: new AbortController().signal, batch: [{ id, name, args }], progress: () => {} });
};

// A process with this command ignores the end of its terminal and of its output.
const stubborn = "trap '' HUP PIPE; while :; do sleep 0.2; done";
await call('run', { command: stubborn, background: true, id: 'server' }, 'c1');
await call('run', { command: stubborn, background: true, pty: true, id: 'shell' }, 'c2');
await call('run', { command: `(${stubborn}) & exec true`, background: true, id: 'gone' }, 'c3');
await call('idle', { action: 'spawn', id: 'thought' }, 'c4');
await call('run', { command: 'echo told', background: true, id: 'told' }, 'c5');
await call('await', { all: ['told'] } as never, 'c6');
await call('run', { command: 'echo untold; exit 7', background: true, id: 'untold' }, 'c7');
void call('run', { command: stubborn }, 'c8');
while (handles.list().some(({ id, state }) => id === 'untold' && state !== 'stopped')) await new Promise(setImmediate);
await handles.idle();
process.stdout.write(`${JSON.stringify(handles.list())}\n`);
setInterval(() => {}, 1_000);
