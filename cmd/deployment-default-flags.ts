import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type DeletionPolicy,
  deletionPolicySchema,
  type PrunePolicy,
} from '../api/v1alpha1/deployment-policies.ts';
import { booleanFlag } from './flag-values.ts';

export interface DeletionPolicyFlag {
  readonly defaultDeletionPolicy: DeletionPolicy;
}

/** Flags of what holds for deployments whose spec leaves it out. Without them, what held in v0.16. */
export interface DeploymentDefaultFlags extends DeletionPolicyFlag {
  readonly defaultPruneMaxPercent?: number;
  readonly defaultConfirmData: boolean;
}

export function addDeploymentDefaultFlags(command: Command): void {
  addDeletionPolicyFlag(command)
    .option(
      '--default-prune-max-percent <percent>',
      'spec.prune.maxPercent of deployments without it, 0 to 100; none where absent',
      percent,
    )
    .addOption(
      booleanFlag('default-confirm-data', 'spec.prune.confirmData of deployments without it'),
    );
}

/** The process that warns of deletions takes it too. */
export function addDeletionPolicyFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--default-deletion-policy <policy>',
      'spec.deletionPolicy of deployments without it',
    )
      .choices(deletionPolicySchema.options)
      .default('Delete'),
  );
}

export function pruneDefaults(flags: DeploymentDefaultFlags): PrunePolicy {
  const { defaultPruneMaxPercent: maxPercent, defaultConfirmData: confirmData } = flags;
  return { confirmData, ...(maxPercent === undefined ? {} : { maxPercent }) };
}

function percent(text: string): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value <= 100) return value;
  throw new InvalidArgumentError('It must be a whole number from 0 to 100.');
}
