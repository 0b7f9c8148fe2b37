/** Builds the console into the package, from where the server serves it. Nothing inline: its policy forbids that. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Whoever builds from a test or a development shell gets the same files: React's development build names paths of the machine.
process.env['NODE_ENV'] = 'production';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, '../dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
