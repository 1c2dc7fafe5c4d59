import { objectName } from '../objects/object-name.ts';
import { supportedKinds } from '../objects/supported-kinds.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** A bundle may ship objects of the kinds in supportedKinds only. */
export function onlySupportedKinds({ others }: RegistryBundle): string | undefined {
  const refused = others.find((object) => !supportedKinds.has(object.kind));
  if (refused === undefined) return undefined;
  return `bundle contains unsupported resource: Name: ${objectName(refused)}, Kind: ${refused.kind}`;
}
