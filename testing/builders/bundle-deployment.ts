import type { BundleDeployment } from '../../core/sdk.ts';
import { aBundle, type BundleOptions } from './bundle.ts';

/** What of a BundleDeployment is not as usual. */
export interface BundleDeploymentOptions extends BundleOptions {
  /** What `spec.config` holds; none where absent. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The class of the Bundle, where another one unpacks the content. */
  readonly bundleClassName?: string;
}

/** A BundleDeployment as a class is given it. */
export function aBundleDeployment(options: BundleDeploymentOptions = {}): BundleDeployment {
  const { config, bundleClassName, ...ofBundle } = options;
  const { metadata, spec } = aBundle(ofBundle);
  const { provisionerClassName, source } = spec;
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata,
    spec: {
      provisionerClassName,
      template: { spec: { provisionerClassName: bundleClassName ?? provisionerClassName, source } },
      ...(config === undefined ? {} : { config }),
    },
  };
}
