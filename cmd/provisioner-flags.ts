import type { Command } from 'commander';
import { positiveInteger } from './flag-values.ts';

/** Classes of third parties that this process serves besides. */
export interface ProvisionerFlags {
  /** Paths, or names of packages. */
  readonly provisioner: readonly string[];
  /** Mebibytes. */
  readonly provisionerMemory: number;
}

export function addProvisionerFlags(command: Command): void {
  command
    .option(
      '--provisioner <path|package>',
      'serve the class of this TypeScript or JavaScript module, in processes of its own; repeatable',
      (value: string, values: readonly string[]) => [...values, value],
      [],
    )
    .option(
      '--provisioner-memory <MiB>',
      'bound on what each process of such a class needs for content and objects',
      positiveInteger,
      256,
    );
}
