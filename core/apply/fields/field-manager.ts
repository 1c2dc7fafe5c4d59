/** The field manager of everything that the engine applies. */
export const fieldManager = 'rukpak-core';
