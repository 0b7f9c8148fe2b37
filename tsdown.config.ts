import { join } from 'node:path';
import { defineConfig } from 'tsdown';

const JSON_SCHEMA = join(import.meta.dirname, 'src/agent/json-schema.d.ts');

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    core: 'src/entries/core.ts',
    inbox: 'src/entries/inbox.ts',
    bus: 'src/entries/bus.ts',
    stores: 'src/entries/stores.ts',
    gateway: 'src/entries/gateway.ts',
    config: 'src/entries/config.ts',
    agent: 'src/entries/agent.ts',
    handles: 'src/entries/handles.ts',
    server: 'src/entries/server.ts',
    sources: 'src/entries/sources.ts',
    tasks: 'src/entries/tasks.ts',
    client: 'src/entries/client.ts',
    'cli/main': 'src/cli/main.ts',
    // Loaded by other programs, by their paths: `src/hosts/plugin-file.ts`.
    'plugins/opencode': 'src/hosts/opencode/plugin.ts',
    'plugins/pi': 'src/hosts/pi/extension.ts',
    // Started by their paths, from beside or above: `src/bus/templates/thread.ts`, `src/stores/thread/store.ts`.
    'workers/template': 'src/bus/templates/worker.ts',
    'workers/store': 'src/stores/thread/worker.ts',
  },
  platform: 'node',
  fixedExtension: false,
  // Older than what we support: an older Node must be able to parse an entry before it can say that it is too old.
  target: 'es2022',
  // An optional peer: its types are part of ours, so that a program without it compiles.
  deps: { dts: { alwaysBundle: ['@ai-sdk/provider', 'json-schema'] } },
  // The types of that package import this name from a package that brings no types.
  plugins: [{ name: 'json-schema', resolveId: { order: 'pre', handler: (id) => (id === 'json-schema' ? JSON_SCHEMA : null) } }],
  dts: { entry: ['src/index.ts', 'src/entries/*.ts'] },
  // Chunks lie one folder deep, like sources: `src/cli/version.ts` finds package.json two folders up from either.
  outputOptions: { chunkFileNames: 'chunks/[name]-[hash].js' },
});
