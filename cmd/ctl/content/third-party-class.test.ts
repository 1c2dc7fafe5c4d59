import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type CtlResult, rukpakctl, spawnRukpakctl } from '../../../test/helpers/rukpakctl.ts';

const sdk = fileURLToPath(new URL('../../../core/sdk.ts', import.meta.url));

const greeter = `
import { defineProvisioner } from ${JSON.stringify(sdk)};
export default defineProvisioner({
  className: 'acme-greeter',
  bundle: async (files) => {
    if (!files.files.has('greeting')) throw new Error('there is no file greeting');
    return files;
  },
  deployment: async ({ files }, { metadata, spec }) => [{
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: metadata.name, namespace: 'default' },
    data: { text: new TextDecoder().decode(files.get('greeting')) + (spec.config?.to ?? '') },
  }],
});
`;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'third-party-class-'));
  for (const [path, content] of [
    ['class/greeter.ts', greeter],
    ['class/package.json', '{"name": "greeter", "type": "module"}'],
    ['looping/class.ts', 'console.log(`loops in ${process.pid}.`);\nfor (;;) {}\n'],
    ['looping/package.json', '{"name": "looping", "type": "module"}'],
    ['good/greeting', 'hello '],
    ['bad/other', 'x'],
    ['config.yaml', 'to: you\n'],
  ] as const) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function ctl(command: string, bundle: string, ...flags: string[]): Promise<CtlResult> {
  const module = join(folder, 'class/greeter.ts');
  return await rukpakctl([command, join(folder, bundle), '--provisioner', module, ...flags]);
}

describe('a class that is no built-in one', { tags: ['process'] }, () => {
  test('renders with its config', async () => {
    const { code, stdout, stderr } = await ctl(
      'render',
      'good',
      '--config',
      join(folder, 'config.yaml'),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('kind: ConfigMap\n');
    expect(stdout).toContain('text: hello you\n');
  });

  test('reports the problems of a bundle', async () => {
    const good = await ctl('validate', 'good');
    expect(good).toMatchObject({
      code: 0,
      stdout: 'valid as acme-greeter: 1 object, 0 warnings\n',
    });
    const { code, stdout } = await ctl('validate', 'bad');
    expect(code).toBe(1);
    expect(stdout).toContain('there is no file greeting');
    expect(stdout).toContain('not valid as acme-greeter: 1 error, 0 warnings\n');
  });
  test.each(['SIGINT', 'SIGHUP'] as const)('ends with the command at %s', async (signal) => {
    let pid = 0;
    onTestFinished(() => {
      if (pid !== 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    const module = join(folder, 'looping/class.ts');
    const args = ['render', join(folder, 'good'), '--provisioner', module];
    const { code, stdout } = await spawnRukpakctl(args, {
      onStart: (child) => {
        child.stderr?.on('data', (text: string) => {
          pid ||= Number(/loops in (\d+)\./.exec(text)?.[1] ?? 0);
          if (pid !== 0) child.kill(signal);
        });
      },
    });
    expect(pid).not.toBe(0);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect({ code, stdout }).toEqual({ code: 128 + constants.signals[signal], stdout: '' });
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
