import type { KubernetesObject } from '../../core/sdk.ts';
import { TerminalError } from '../../core/sdk.ts';
import { generators } from './generators/index.ts';
import type { RegistryBundle } from './registry-bundle.ts';
import { uniqueObjects } from './unique-objects.ts';
import { validators } from './validators/index.ts';

export interface ConvertOptions {
  /** Where namespaced objects go; what the bundle itself suggests where absent. */
  readonly installNamespace?: string;
}

/**
 * Turns a registry+v1 bundle into the objects of a plain+v0 bundle (spec section 9). Content is kept
 * as written; each object appears once, and the bundle's own wins over a generated one.
 * @throws TerminalError with the first validator's complaint, without a prefix.
 */
export function convert(
  bundle: RegistryBundle,
  options: ConvertOptions = {},
): readonly KubernetesObject[] {
  for (const validate of validators) {
    const complaint = validate(bundle);
    if (complaint !== undefined) throw new TerminalError(complaint);
  }
  const installNamespace = options.installNamespace ?? suggestedNamespace(bundle);
  return uniqueObjects(generators.flatMap((generate) => generate(bundle, installNamespace)));
}

const suggestion = 'operatorframework.io/suggested-namespace';

function suggestedNamespace({ csv, packageName }: RegistryBundle): string {
  const suggested = Object.hasOwn(csv.annotations, suggestion) ? csv.annotations[suggestion] : '';
  return suggested === undefined || suggested === '' ? `${packageName}-system` : suggested;
}
