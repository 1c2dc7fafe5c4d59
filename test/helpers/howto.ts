import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { HelmCommand } from './helm/helm-command.ts';
import type { Kubectl } from './kubectl.ts';
import { RukpakInProcess } from './rukpak-run.ts';
import { rukpakctl } from './rukpakctl.ts';

const root = join(import.meta.dirname, '../..');

export interface Howto {
  /** A page in docs/howto. */
  readonly page: string;
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  /** For pages with Helm's own command. */
  readonly helm?: HelmCommand;
  /** Words of its commands that are others here, such as the paths of files. */
  readonly files?: Readonly<Record<string, string>>;
}

/**
 * Runs the commands of one section of a howto as written: those of the code block after `<!--
 * followed by the test -->`, or of all its blocks without such a mark. Returns their output.
 */
export async function followHowto(howto: Howto, heading: string): Promise<string> {
  let output = '';
  for (const command of await commandsOf(howto.page, heading)) {
    output += await runCommand(howto, command);
  }
  return output;
}

/** The lines of the code block of a page that has this text. */
export async function howtoBlock(page: string, text: string): Promise<readonly string[]> {
  const blocks = codeBlocks(await readFile(join(root, 'docs/howto', page), 'utf8'));
  const [found, ...more] = blocks.filter((block) => block.includes(text));
  if (found === undefined || more.length > 0) {
    throw new Error(`${page} has ${more.length === 0 ? 'no' : 'several'} blocks with ${text}`);
  }
  return found.split('\n').filter(Boolean);
}

/** Runs one line of a howto, which may contain a pipe; returns its output. */
export async function runCommand(howto: Howto, line: string): Promise<string> {
  let output = '';
  for (const command of line.split(' | ')) output = await runProgram(howto, command, output);
  return output;
}

async function runProgram(
  { kubectl, kubeconfig, helm, files = {} }: Howto,
  command: string,
  input: string,
): Promise<string> {
  const [program = '', ...words] = wordsOf(command).map((word) => files[word] ?? word);
  if (program === 'kubectl') return await runKubectl(kubectl, words, input);
  if (program === 'helm' && helm !== undefined) {
    return await helm.run([...words, '--kubeconfig', kubeconfig]);
  }
  if (program === 'rukpak') return await runRukpak(words, kubeconfig);
  if (program !== 'rukpakctl') throw new Error(`a howto cannot use ${program}`);
  const { code, stdout, stderr } = await rukpakctl(words, {
    input,
    env: { KUBECONFIG: kubeconfig },
  });
  if (code !== 0) throw new Error(`${command}: ${stderr}${stdout}`);
  return stdout;
}

async function runRukpak(words: readonly string[], kubeconfig: string): Promise<string> {
  const run = new RukpakInProcess(words, kubeconfig);
  await run.ended;
  if (run.exitCode !== 0) throw new Error(`rukpak ${words.join(' ')}: ${run.log}`);
  return run.log;
}

/**
 * Clients see a new CRD, and the API server respects a new role, a moment later: a user needs
 * longer than that from one command to the next.
 */
async function runKubectl(
  kubectl: Kubectl,
  words: readonly string[],
  input: string,
): Promise<string> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { code, stdout, stderr } = await kubectl.run(words, input);
    if (code === 0) return stdout;
    const mayPass =
      /no matches for kind|doesn't have a resource type|\(Forbidden\)|may not impersonate/;
    if (!mayPass.test(stderr) || Date.now() >= deadline) {
      throw new Error(`kubectl ${words.join(' ')}: ${stderr}${stdout}`);
    }
    await delay(500);
  }
}

/** Splits like a shell, with quotes only around whole words and without expansion. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

async function commandsOf(page: string, heading: string): Promise<readonly string[]> {
  const text = await readFile(join(root, 'docs/howto', page), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${page} has no section ${heading}`);
  const [, ...followed] = section.split('<!-- followed by the test -->');
  const blocks =
    followed.length === 0 ? codeBlocks(section) : followed.map((part) => codeBlocks(part)[0] ?? '');
  return blocks.flatMap((block) => block.split('\n').filter(Boolean));
}

function codeBlocks(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.map((block) => block.replaceAll(/\\\n\s*/g, ''));
}
