import type { Bundle, BundleDeployment, BundleSource } from '../core/sdk.ts';

/** Differences from a default Bundle. */
export interface BundleOptions {
  /** Default: `demo`. */
  readonly name?: string;
  /** Default: `core-rukpak-io-plain`. */
  readonly className?: string;
  /** Default: an image. */
  readonly source?: BundleSource;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Bundle as a class receives it. */
export function aBundle(options: BundleOptions = {}): Bundle {
  const { name = 'demo', className = 'core-rukpak-io-plain', source = anImage } = options;
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name, uid: `uid-of-${name}`, generation: 1, ...marks(options) },
    spec: { provisionerClassName: className, source },
  };
}

const anImage: BundleSource = { type: 'image', image: { ref: 'registry.example/demo:v1' } };

function marks({ labels, annotations }: BundleOptions): Pick<Bundle['metadata'], 'labels'> {
  return {
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** Differences from a default BundleDeployment. */
export interface BundleDeploymentOptions extends BundleOptions {
  /** `spec.config` (default: none). */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The class of the Bundle, if another class unpacks the content. */
  readonly bundleClassName?: string;
}

/** A BundleDeployment as a class receives it. */
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
