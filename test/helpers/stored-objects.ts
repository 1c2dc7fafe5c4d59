import type { ObjectMeta } from '../../api/meta.ts';
import type {
  Bundle,
  BundleDeployment,
  BundleDeploymentStatus,
  BundleSource,
  BundleStatus,
  BundleTemplate,
} from '../../api/v1alpha1/index.ts';
import { anImage } from './objects.ts';

const apiVersion = 'core.rukpak.io/v1alpha1';

interface StoredFields<Status> {
  readonly name?: string;
  readonly className?: string;
  readonly metadata?: ObjectMeta;
  readonly status?: Status;
}

/** A Bundle as the API server returns it: new, of class `plain`, from image `example.com/app:v1`. */
export function aStoredBundle({
  name = 'demo',
  className = 'plain',
  source = anImage('example.com/app:v1'),
  metadata,
  status,
}: StoredFields<BundleStatus> & { readonly source?: BundleSource } = {}): Bundle {
  return {
    apiVersion,
    kind: 'Bundle',
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1, ...metadata },
    spec: { provisionerClassName: className, source },
    ...(status === undefined ? {} : { status }),
  };
}

/** A BundleDeployment as the API server returns it; its template is of class `plain`. */
export function aStoredDeployment({
  name = 'demo',
  className = 'plain',
  template = aTemplate('example.com/app:v1'),
  config,
  metadata,
  status,
}: StoredFields<BundleDeploymentStatus> & {
  readonly template?: BundleTemplate;
  readonly config?: Readonly<Record<string, unknown>>;
} = {}): BundleDeployment {
  return {
    apiVersion,
    kind: 'BundleDeployment',
    metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1, ...metadata },
    spec: {
      provisionerClassName: className,
      template,
      ...(config === undefined ? {} : { config }),
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** A template of class `plain` from an image. */
export function aTemplate(ref: string, metadata?: BundleTemplate['metadata']): BundleTemplate {
  const spec = { provisionerClassName: 'plain', source: anImage(ref) };
  return metadata === undefined ? { spec } : { metadata, spec };
}
