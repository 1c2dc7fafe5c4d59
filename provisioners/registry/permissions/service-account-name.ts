/** The account that every namespace has, and that is meant where none is named. */
export const defaultServiceAccount = 'default';

export function serviceAccountOf(user: { readonly serviceAccountName: string }): string {
  return user.serviceAccountName === '' ? defaultServiceAccount : user.serviceAccountName;
}
