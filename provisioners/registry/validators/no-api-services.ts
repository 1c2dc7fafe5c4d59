import type { RegistryBundle } from '../registry-bundle.ts';

/** Nothing serves an aggregated API's certificates; the text is RukPak's (spec section 9.4). */
export function noApiServices({ csv }: RegistryBundle): string | undefined {
  return csv.ownedApiServices.length > 0 ? 'apiServiceDefintions are not supported' : undefined;
}
