import { z } from 'zod';
import { bundleSpecSchema } from '../api/v1alpha1/bundle.ts';
import { annotation } from '../api/v1alpha1/labels.ts';
import { isSameSpec } from './bundle-immutable.ts';
import { type ConfigMapReader, findSourceFault } from './bundle-source.ts';
import { type AdmissionValidator, allowed, denied, errored } from './review.ts';

const annotationsSchema = z.looseObject({ [annotation.pin]: z.string().optional() });
const bundleSchema = z.object({
  metadata: z.looseObject({ annotations: annotationsSchema.optional() }).optional(),
  spec: bundleSpecSchema,
});

/** The validator behind `vbundles.core.rukpak.io`. */
export function bundleValidator(configMaps: ConfigMapReader): AdmissionValidator {
  return async ({ operation, subResource, object, oldObject }, signal) => {
    if ((operation !== 'CREATE' && operation !== 'UPDATE') || subResource) return allowed;
    const bundle = bundleSchema.safeParse(object);
    if (!bundle.success) return undecodable('object', bundle.error);
    if (operation === 'UPDATE') {
      const old = bundleSchema.safeParse(oldObject);
      if (!old.success) return undecodable('oldObject', old.error);
      if (!isSameSpec(old.data.spec, bundle.data.spec)) return denied('bundle.spec is immutable');
      if (!keepsPin(old.data, bundle.data)) {
        return denied(
          `annotation ${annotation.pin} says which content the Bundle has, and is immutable`,
        );
      }
    }
    const fault = await findSourceFault(bundle.data.spec.source, configMaps, signal);
    return fault === undefined ? allowed : denied(fault);
  };
}

/** Core writes the pin once: empty where it first sees a Bundle, its content's when it is unpacked. */
function keepsPin(
  old: z.infer<typeof bundleSchema>,
  bundle: z.infer<typeof bundleSchema>,
): boolean {
  const before = old.metadata?.annotations?.[annotation.pin];
  const after = bundle.metadata?.annotations?.[annotation.pin];
  return before === '' ? after !== undefined : before === undefined || before === after;
}

function undecodable(field: string, error: z.ZodError) {
  const [issue] = error.issues;
  const path = [`request.${field}`, ...(issue?.path ?? [])].join('.');
  return errored(400, `failed to decode Bundle: ${path}: ${issue?.message}`);
}
