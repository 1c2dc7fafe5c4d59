import type { Command } from 'commander';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { TerminalError } from '../../../core/errors.ts';
import { isConfirmed } from '../../flags/confirmation.ts';
import { durationOption } from '../../flags/flag-values.ts';
import type { OutputFlags } from '../output/output.ts';
import { visibleLine } from '../terminal/text.ts';
import type { ForeseenDeletion, ForeseenObject } from './foreseen-deletion.ts';

/** Flags of commands that delete what core has installed. */
export interface DeletionFlags extends OutputFlags {
  readonly systemNamespace: string;
  readonly yes?: true;
  readonly dryRun?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

export function addDeletionFlags(command: Command): Command {
  return command
    .option(
      '-y, --yes',
      'Do not ask for confirmation; required without a terminal, and with -o json',
    )
    .option('--dry-run', 'Print what would be deleted, and change nothing')
    .addOption(durationOption('--timeout', 'Maximum time for the deletion', '5m'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system');
}

/** Maximum number of listed objects; the rest is a count. */
const listed = 50;

/** The objects that a deletion deletes, and those that stay. */
export function deletionLines(
  { deletes, keeps, hidden, hooks }: Omit<ForeseenDeletion, 'deployment'>,
  all: boolean,
): readonly string[] {
  return [
    ...objectLines(deletes, all),
    ...(keeps.length === 0 ? [] : ['These stay:', ...objectLines(keeps, all)]),
    ...hidden.map((kind) => `  ${kind}: you may not list this kind`),
    ...(hooks === 0 ? [] : [hooksLine(hooks)]),
  ];
}

function hooksLine(hooks: number): string {
  const what = hooks === 1 ? '1 hook' : `${hooks} hooks`;
  return `Core also runs ${what} of the deletion (pre-delete, post-delete), unless annotation ${annotation.skipHooks} is "true"`;
}

function objectLines(objects: readonly ForeseenObject[], all: boolean): readonly string[] {
  const shown = all ? objects : objects.slice(0, listed);
  const more = objects.length - shown.length;
  return [
    ...shown.map(({ kind, namespace, name, note }) => {
      const path = namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
      return visibleLine(note === undefined ? `  ${path}` : `  ${path} (${note})`);
    }),
    ...(more === 0 ? [] : [`  … and ${more} more; --output wide lists all`]),
  ];
}

/**
 * Asks for confirmation after the list.
 * @throws TerminalError without a yes.
 */
export async function confirmDeletion(
  name: string,
  flags: DeletionFlags,
  signal: AbortSignal,
): Promise<void> {
  if (flags.yes === true) return;
  const isShown = flags.output === 'text' || flags.output === 'wide';
  if (!process.stdin.isTTY || !isShown) {
    throw new TerminalError(
      'nothing is deleted: there is no terminal to ask for confirmation, so pass --yes',
    );
  }
  if (await isConfirmed(`Delete "${name}"?`, signal)) return;
  throw new TerminalError('nothing is deleted');
}
