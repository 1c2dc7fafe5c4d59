import type { JsonObject } from '../../api/json.ts';

/** Lets everything pass, as an admission webhook. */
export function allowed(review: JsonObject): object {
  return admission(review, { allowed: true });
}

/** Lets it pass with a label, as a mutating webhook; the object must have labels. */
export function labelled(review: JsonObject, label: string, value: string): object {
  const patch = [{ op: 'add', path: `/metadata/labels/${label}`, value }];
  return admission(review, {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  });
}

/** Refuses it with that message. */
export function denied(review: JsonObject, message: string): object {
  return admission(review, { allowed: false, status: { message } });
}

/** The objects in the version that is asked for, as a conversion webhook; `change` adapts each. */
export function converted(
  review: JsonObject,
  change: (object: JsonObject, apiVersion: string) => JsonObject = (object) => object,
): object {
  const { uid, desiredAPIVersion, objects } = review['request'] as {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly JsonObject[];
  };
  const convertedObjects = objects.map((object) => ({
    ...change(object, desiredAPIVersion),
    apiVersion: desiredAPIVersion,
  }));
  const { apiVersion, kind } = review;
  return { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } };
}

function admission({ apiVersion, kind, request }: JsonObject, response: object): object {
  const { uid } = request as { readonly uid: string };
  return { apiVersion, kind, response: { uid, ...response } };
}
