// Runs the contract suite on a store with one defect, which the first argument names.
import { describe, test } from 'node:test';
import { memoryStore, runStoreContract } from 'earpiece/store';

const acknowledged = (log, drafts) => ({
  kind: 'appended',
  records: drafts.map((body, i) => ({ seq: i + 1, at: 0, log, body })),
  items: [],
});

let appends = 0;
const defects = {
  'is sound': (store, ...args) => store.append(...args),
  'loses every tenth append': (store, log, drafts, options) =>
    ++appends % 10 === 0 ? acknowledged(log, drafts) : store.append(log, drafts, options),
  'closes an id twice': async (store, log, drafts, options) => {
    const appended = await store.append(log, drafts, options);
    const twice = appended.kind === 'conflict' && appended.ids.some(({ why }) => why === 'closed');
    return twice ? acknowledged(log, drafts) : appended;
  },
};

const name = process.argv[2];
const broken = (store) =>
  new Proxy(store, {
    get(target, method) {
      if (method === 'append') return async (...args) => defects[name](target, ...args);
      return typeof target[method] === 'function' ? target[method].bind(target) : target[method];
    },
  });

runStoreContract(
  name,
  {
    make: ({ clock }) => broken(memoryStore({ clock })),
    lacks: { 'survives-restart': 'it is in memory', 'many-processes': 'it is in memory', 'overwrites-erased': 'it is in memory' },
  },
  { describe, test },
);
