import type { KubernetesObject } from '../../core/sdk.ts';
import { TerminalError, WaitingError } from '../../core/sdk.ts';
import { generators } from './generators/index.ts';
import type { Installation } from './installation/installation.ts';
import { uniqueObjects } from './objects/unique-objects.ts';
import type { RegistryBundle } from './registry-bundle.ts';
import { requirements } from './requirements/index.ts';
import { validators } from './validators/index.ts';

/**
 * Turns a registry+v1 bundle into the objects of a plain+v0 bundle. Content is kept
 * as written; each object appears once, and the bundle's own wins over a generated one.
 * @throws TerminalError with the first validator's complaint, without a prefix, and WaitingError that
 * says what the cluster lacks, where one is known.
 */
export function convert(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  for (const validate of validators) {
    const complaint = validate(bundle, installation);
    if (complaint !== undefined) throw new TerminalError(complaint);
  }
  checkRequirements(bundle, installation);
  return uniqueObjects(generators.flatMap((generate) => generate(bundle, installation)));
}

function checkRequirements(bundle: RegistryBundle, { cluster, installed }: Installation): void {
  if (cluster === undefined || installed === true) return;
  for (const lackOf of requirements) {
    const lack = lackOf(bundle, cluster);
    if (lack !== undefined) throw new WaitingError(lack);
  }
}
