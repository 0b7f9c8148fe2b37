import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
await ear.queue('coder', { message: 'The build that you started has failed: 2 tests', level: 'error', kind: 'ci.failed' });

// In the agent's loop, a tool has answered, and your program sends its result to the model anyway.
const coder = ear.conversation('coder');
console.log((await coder.toolResult({ id: 'call_1', content: 'src/cart.ts: 40 lines written' })).text);
console.log('--- and the next one:');
console.log((await coder.toolResult({ id: 'call_2', content: 'src/cart.ts: 40 lines written' })).text);
