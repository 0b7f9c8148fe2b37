/** Builds the console into the package, from where the server serves it. Nothing inline: its policy forbids that. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// A build from a test or a development shell makes the same files, because React's development build would contain paths of the
// machine.
process.env['NODE_ENV'] = 'production';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  // One function renders each text; see that file.
  plugins: [react({ jsxImportSource: 'shown' })],
  resolve: { alias: { 'shown/jsx-runtime': join(import.meta.dirname, 'src/shown/jsx-runtime.ts') } },
  build: {
    outDir: join(import.meta.dirname, '../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
