/** Builds the console into the package, from where the server serves it. Nothing inline: its policy forbids that. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Whoever builds from a test or a development shell gets the same files: React's development build names paths of the machine.
process.env['NODE_ENV'] = 'production';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  // Each text is shown by one function, see there.
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
