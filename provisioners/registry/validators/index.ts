import type { Installation } from '../installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { noApiServices } from './no-api-services.ts';
import { noWebhooks } from './no-webhooks.ts';
import { onlySupportedKinds } from './only-supported-kinds.ts';
import { supportedInstallMode } from './supported-install-mode.ts';

/** Says why a bundle cannot be converted, or nothing. Pure. */
export type Validator = (bundle: RegistryBundle, installation: Installation) => string | undefined;

/** In order of checking: the first complaint is the one reported (spec section 9.4). */
export const validators: readonly Validator[] = [
  supportedInstallMode,
  noApiServices,
  noWebhooks,
  onlySupportedKinds,
];
