import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
await ear.queue('shop/coder', { message: 'The build that you started has failed: 2 tests', level: 'error', kind: 'ci.failed' });

// Somewhere in the agent's loop: a tool has answered, and its result goes to the model anyway.
const coder = ear.conversation('shop/coder');
const result = { type: 'tool_call_response', id: 'call_1', content: 'src/cart.ts: 40 lines written', is_error: false };
console.log((await coder.carry(result, { at: 'tool_result' })).text);
console.log('--- and the next one:');
console.log((await coder.carry({ ...result, id: 'call_2' }, { at: 'tool_result' })).text);
