import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { acts } from './acts.ts';
import { type Stage, setStage } from './stage.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface DemoOptions {
  readonly keep?: boolean;
}

async function demo({ keep = false }: DemoOptions): Promise<void> {
  const startedAt = Date.now();
  const stage = await setStage(root, (line) => process.stdout.write(`   ${line}\n`));
  let kept = false;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => void stage.stop().finally(() => process.exit(130)));
  }
  try {
    await play(stage);
    summarize(Date.now() - startedAt);
    if (keep) explain(stage);
    kept = keep;
  } finally {
    if (kept) stage.detach();
    else await stage.stop();
  }
  if (kept) process.exit(0);
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

function explain(stage: Stage): void {
  const { cluster, folder, samples, system } = stage;
  process.stdout.write(`
Left running, as you asked:
  export KUBECONFIG=${cluster.kubeconfig}
  kubectl apply -f ${samples}/bundledeployment-plain.yaml
  log of the system: ${system.logFile}
  registry: ${cluster.registry} (the git server has stopped with the demo)
To stop it:
  kill ${stage.systemPid()}; npm run cluster -- down --dir ${cluster.dir}; rm -r ${folder}
`);
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
