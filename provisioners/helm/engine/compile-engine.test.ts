import { expect, test } from 'vitest';
import { compileEngine } from './compile-engine.ts';

test('an engine that is not built is asked for with the command', async () => {
  const nowhere = new URL('./nowhere.wasm', import.meta.url);
  await expect(compileEngine(512, nowhere)).rejects.toThrow(
    /^Helm's engine is not built \(.*nowhere\.wasm cannot be read\): run "npm run helm-engine", which needs Go$/,
  );
});
