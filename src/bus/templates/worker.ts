/** The worker that runs templates, a separate entry of the built package. `thread.ts` starts, watches and ends the worker. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer, Question, WorkerData } from './protocol.ts';
import { boundMemory } from './wasm-memory.ts';

const { limits, begun } = workerData as WorkerData;
const began = new BigInt64Array(begun);

// The memory must be limited before the import, which compiles minijinja.
boundMemory(limits.memoryMb);
const { sandbox } = await import('./sandbox.ts');
const { answer } = sandbox(limits);

const say = (message: Answer | 'ready'): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  parentPort?.postMessage(message);
};
parentPort?.on('message', (question: Question) => {
  Atomics.store(began, 0, process.hrtime.bigint());
  say(answer(question));
});
say('ready');
