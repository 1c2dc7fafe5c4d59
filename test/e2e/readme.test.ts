// @module-tag long
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopCluster } from '../../deploy/local/cluster/stop-cluster.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { commandsOfReadme, type PageCommand } from '../helpers/readme.ts';

const root = join(import.meta.dirname, '../..');

interface Ended {
  readonly code: number;
  /** Of both streams. */
  readonly output: string;
}

let demo = '';
let clusterFolder = '';
/** What the demo says to type into a terminal before the tour. */
let preparation = '';
/** Where the tour's samples are. */
let samples = 'deploy/samples';

beforeAll(async () => {
  const { code, output } = await shell('npm run demo -- --keep');
  demo = output;
  clusterFolder = /npm run cluster -- down --dir (\S+)/.exec(demo)?.[1] ?? '';
  expect(code, demo).toBe(0);
  preparation = /^ *(export KUBECONFIG=.*)$/m.exec(demo)?.[1] ?? '';
  expect(preparation).not.toBe('');
  samples = /read (\S+) where the tour says deploy\/samples/.exec(demo)?.[1] ?? samples;
});

afterAll(async () => {
  if (clusterFolder !== '') await stopCluster(clusterFolder);
});

test.each(['A five-minute tour', 'From your own directory'])(
  'the commands of "%s" work in order, and print what is shown',
  async (heading) => {
    for (const step of commandsOfReadme(heading)) {
      // What has just been asked for may take a moment; asking again changes nothing.
      if (step.command.startsWith('kubectl get')) await eventually(() => follow(step), patiently);
      else await follow(step);
    }
  },
);

test('the command that the demo names stops all that it has started', async () => {
  const started = await processes();
  expect(started.join('\n')).toContain('rukpak.ts all');
  expect(started.join('\n')).toContain('git/serve.ts');
  expect((await shell(`npm run cluster -- down --dir ${clusterFolder}`)).code).toBe(0);
  expect(await processes()).toEqual([]);
  expect(existsSync(clusterFolder)).toBe(false);
});

async function follow({ command, output }: PageCommand): Promise<void> {
  const adapted = command.replaceAll(/deploy\/samples(?=\/bundle)/g, samples);
  const ended = await shell(`${preparation}\n${adapted}`);
  expect(withoutChance(ended.output), command).toMatch(inOrder(output));
  expect(ended.code, `${command}\n${ended.output}`).toBe(expectedCode({ command, output }));
}

function expectedCode({ command, output: [first = ''] }: PageCommand): number {
  // As of diff(1): there are differences.
  if (command.startsWith('rukpakctl diff')) return 1;
  return first.startsWith('Error') ? 1 : 0;
}

/** Without ages, hashes at the end of names, shortened or not, and what older kubectls do not say. */
function withoutChance(text: string): string {
  return text
    .replaceAll(' from default namespace', '')
    .replaceAll(/-[a-z0-9]{4,}…|-[a-z0-9]{40,}/g, '-…')
    .replaceAll(/ \d+(?:s|m\d*s?)(?= |$)/gm, ' AGE')
    .replaceAll(/ +/g, ' ');
}

/** These lines, with others before and between them. */
function inOrder(lines: readonly string[]): RegExp {
  const patterns = lines.map((line) =>
    withoutChance(line).replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'),
  );
  return new RegExp(patterns.map((pattern) => `^${pattern}$`).join('[^]*?'), 'm');
}

/** The command lines of what runs for the demo's cluster. */
async function processes(): Promise<readonly string[]> {
  const { output } = await shell('ps -ww -eo args');
  return output.split('\n').filter((line) => line.includes(clusterFolder));
}

function shell(script: string): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: root, maxBuffer: 16 * 1024 * 1024 };
    execFile('bash', ['-c', script], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}
