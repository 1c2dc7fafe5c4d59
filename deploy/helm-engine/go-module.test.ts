// @module-tag process
import { describe, expect, test } from 'vitest';
import { sourceHash, versionFlag } from './go-module.ts';

test('the version that go.mod pins is the one that templates see', async () => {
  expect(await versionFlag()).toMatch(
    /^-X helm\.sh\/helm\/v4\/internal\/version\.version=v4\.\d+\.\d+$/,
  );
});

describe('the hash of what is built', () => {
  test('is the same for the same files, and another one for others', async () => {
    const command = ['go.mod', 'go.sum'];
    const engine = await sourceHash(process.env);
    expect(engine).toMatch(/^[0-9a-f]{16}$/);
    expect(await sourceHash(process.env)).toBe(engine);
    expect(await sourceHash(process.env, command)).not.toBe(engine);
  });

  test('needs Go, and says so', async () => {
    await expect(sourceHash({ ...process.env, PATH: '/nowhere' })).rejects.toThrow(
      "Helm's engine is built with Go, and there is no go command: install Go from https://go.dev/dl",
    );
  });
});
