import { bundleValidator } from './bundle.ts';
import type { ConfigMapReader } from './bundle-source.ts';
import { type ConfigMapValidatorOptions, configMapValidator } from './configmap.ts';
import type { AdmissionValidator } from './review.ts';

export interface AdmissionRouteOptions extends ConfigMapValidatorOptions {
  readonly configMaps: ConfigMapReader;
}

/** Every validator by the path at which the webhook configuration calls it (spec section 11). */
export function admissionRoutes(
  options: AdmissionRouteOptions,
): ReadonlyMap<string, AdmissionValidator> {
  return new Map([
    ['/validate-core-rukpak-io-v1alpha1-bundle', bundleValidator(options.configMaps)],
    ['/validate-core-v1-configmap', configMapValidator(options)],
  ]);
}
