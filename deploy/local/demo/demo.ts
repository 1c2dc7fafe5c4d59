import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { layoutOf } from '../cluster/layout.ts';
import { acts } from './acts.ts';
import { type Stage, setStage } from './stage.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface DemoOptions {
  readonly keep?: boolean;
}

async function demo({ keep = false }: DemoOptions): Promise<void> {
  const startedAt = Date.now();
  const stage = await setStage(root, (line) => process.stdout.write(`   ${line}\n`));
  const stop = () => stage.cluster.stop();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => void stop().finally(() => process.exit(130)));
  }
  let kept = false;
  try {
    await play(stage);
    summarize(Date.now() - startedAt);
    if (keep) explain(stage);
    kept = keep;
  } finally {
    if (!kept) await stop();
  }
}

async function play(stage: Stage): Promise<void> {
  const { cluster, transcript } = stage;
  transcript.note(
    `a real control plane is up at ${cluster.server}, a registry at ${cluster.registry}`,
  );
  for (const act of acts) {
    transcript.heading(act.title);
    await act.play(stage);
  }
}

function summarize(milliseconds: number): void {
  process.stdout.write(`\nWhat you just saw, in ${Math.round(milliseconds / 1000)} s:\n`);
  for (const { seen } of acts) process.stdout.write(`- ${seen}\n`);
}

function explain({ cluster, samples, samplesAreCopies }: Stage): void {
  const copies = `\nPorts of the samples are taken here: read ${samples} where the tour says deploy/samples.\n`;
  process.stdout.write(`
Left running, as you asked: the tour in README.md works on it, in a terminal with
  export KUBECONFIG=${cluster.kubeconfig} PATH=${[join(root, 'bin'), ...folderOfKubectl(cluster)].join(delimiter)}:$PATH
${samplesAreCopies ? copies : ''}
Logs are in ${layoutOf(cluster.dir).logs}, images in the registry ${cluster.registry}.
To stop all of it:
  npm run cluster -- down --dir ${cluster.dir}
`);
}

/** Folder of the cluster's kubectl, unless it is the user's own. */
function folderOfKubectl({ kubectl }: Stage['cluster']): readonly string[] {
  const folder = dirname(kubectl);
  return process.env['PATH']?.split(delimiter).includes(folder) === true ? [] : [folder];
}

const program = new Command('demo')
  .description('Shows Bundles and BundleDeployments on a real control plane on this machine')
  .option('--keep', 'leave it running at the end, and say how to use it')
  .action(demo);
try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`\nThe demo did not do what it says: ${String(error)}\n`);
  process.exitCode = 1;
}
